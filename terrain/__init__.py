"""The world: elevation maps, soils, wheel contact on soft ground, obstacles, builders."""
