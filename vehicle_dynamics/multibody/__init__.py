"""Any mechanism of rigid bodies: embedded, tree-augmented, fully augmented, and common code."""
