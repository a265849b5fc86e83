// Search runs in a Web Worker, which browsers deny to a page opened from disk. There it runs in a hidden frame.
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      frame.reply = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.inner = frame.contentWindow;
      this.loaded = new Promise((resolve) => (frame.onload = resolve));
      this.inner.document.open();
      this.inner.document.write(
        `<script>postMessage = (data) => frameElement.reply(data);<\/script><script src="${url}"><\/script>`,
      );
      this.inner.document.close();
    }

    postMessage(data) {
      this.loaded.then(() => this.inner.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
  window.Worker = window.IFrameWorker;
}
