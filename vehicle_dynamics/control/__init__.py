"""Drive-by-wire: from a commanded speed and curvature to steering wheel and pedals."""
