"""Drive by wire: from a wanted speed and curvature to steering wheel and pedals."""
