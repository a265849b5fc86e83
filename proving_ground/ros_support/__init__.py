"""Code that several nodes share: node base, parameters, QoS, time, message conversion, tf, diagnostics."""
