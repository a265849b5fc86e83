"""The filters in plain numpy, line by line from the text: slow, and independent of the kernels' algebra."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import root

from state_observer.filters.setup import Setup
from state_observer.linkages.mechanism import Mechanism, Motion
from state_observer.linkages.sensors import independent_jacobian, measure, measurement_jacobian
from state_observer.linkages.simulation import fall
from state_observer.multibody.constraints import constraint_jacobian, constraints, jacobian_rate
from state_observer.multibody.index3 import index3_step
from state_observer.multibody.kinematics import projection

Array = NDArray[np.float64]


class Reference:
    """Common base: model, sensors and covariance."""

    def __init__(self, setup: Setup, model: Mechanism, start: Array, covariance: Array) -> None:
        self.setup, self.model, self.cranks = setup, model, model.degrees_of_freedom
        self.x, self.p = start.copy(), covariance.copy()
        self.last = model.motion(start[: self.cranks], start[self.cranks : 2 * self.cranks]).q

    def motion(self, x: Array) -> Motion:
        """Full motion for crank angles and rates."""
        return self.model.motion(x[: self.cranks], x[self.cranks :], self.last)

    def h(self, q: Array, qd: Array) -> Array:
        """Perfect readings."""
        result = np.empty(self.setup.sensors.kinds.size)
        measure(self.setup.linkage, self.setup.sensors, q, qd, result)
        return result

    def h_of(self, x: Array) -> Array:
        """Perfect readings for cranks and rates."""
        motion = self.motion(x)
        return self.h(motion.q, motion.qd)

    def jacobian(self, x: Array) -> Array:
        """h_x by central differences."""
        steps = 1e-6 * np.eye(x.size)
        return np.array([(self.h_of(x + d) - self.h_of(x - d)) / 2e-6 for d in steps]).T

    def kalman(self, innovation: Array, jacobian: Array, noise: Array) -> Array:
        """Correction of the state; Eqs. 3.8 to 3.11."""
        gain = self.p @ jacobian.T @ np.linalg.inv(jacobian @ self.p @ jacobian.T + noise)
        self.p = (np.eye(len(self.p)) - gain @ jacobian) @ self.p
        return np.asarray(gain @ innovation)


class Dekf(Reference):
    def step(self, readings: Array) -> Array:
        c, dt, f = self.cranks, self.setup.step, self.setup.transition
        acceleration = self.motion(self.x).qdd[-c:]
        self.x = self.x + dt * np.concatenate([self.x[c:], acceleration])
        self.p = f @ self.p @ f.T + self.setup.plant_noise
        correction = self.kalman(readings - self.h_of(self.x), self.jacobian(self.x), self.setup.sensor_covariance)
        self.x = self.x + correction
        self.last = self.motion(self.x).q
        return self.x


class ErrorEkf(Reference):
    def __init__(self, setup: Setup, model: Mechanism, start: Array, covariance: Array) -> None:
        super().__init__(setup, model, start, covariance)
        self.q, self.qd, self.qdd = (part.copy() for part in self.motion(start))
        self.multipliers = np.zeros(model.size - self.cranks)

    def step(self, readings: Array) -> Array:
        c, f = self.cranks, self.setup.transition
        linkage = self.setup.linkage
        index3_step(linkage, linkage.force, self.setup.step, 1e9, self.q, self.qd, self.qdd, self.multipliers)
        self.p = f @ self.p @ f.T + self.setup.plant_noise
        x = np.concatenate([self.q[-c:], self.qd[-c:]])
        # At the simulated velocities, which satisfy the constraints to 1e-5 only (see test_dynamics): differences of
        # h(z, zd), which assume that they hold, would be off by as much. test_jacobians checks this Jacobian.
        at = projection(linkage, self.q)
        jacobian = independent_jacobian(linkage, self.setup.sensors, at, self.q, self.qd, False)
        error = self.kalman(readings - self.h(self.q, self.qd), jacobian, self.setup.sensor_covariance)
        self.q += projection(linkage, self.q).matrix_r @ error[:c]
        self.qd[:] = projection(linkage, self.q).matrix_r @ (x[c:] + error[c:])
        return np.concatenate([self.q[-c:], self.qd[-c:]])


class Ukf(Reference):
    is_trapezoidal = False

    def propagated(self, x: Array) -> Array:
        c, dt = self.cranks, self.setup.step
        motion = self.motion(x)
        if self.is_trapezoidal:
            after = fall(self.model, dt, 1, motion)
            return np.concatenate([after.angles[0], after.rates[0]])
        return x + dt * np.concatenate([x[c:], motion.qdd[-c:]])

    def step(self, readings: Array) -> Array:
        size, alpha, beta = self.x.size, 1e-3, 2.0
        scaling = alpha**2 * size - size
        mean_weights = np.full(2 * size + 1, 0.5 / (size + scaling))
        mean_weights[0] = scaling / (size + scaling)
        weights = mean_weights.copy()
        weights[0] += 1.0 - alpha**2 + beta
        offsets = np.sqrt(size + scaling) * np.linalg.cholesky(self.p).T
        points = np.array([self.propagated(x) for x in (self.x, *(self.x + offsets), *(self.x - offsets))])
        x = mean_weights @ points
        p = (points - x).T @ np.diag(weights) @ (points - x) + self.setup.plant_noise
        self.last = self.motion(points[0]).q
        measured = np.array([self.h_of(point) for point in points])
        mean = mean_weights @ measured
        p_y = (measured - mean).T @ np.diag(weights) @ (measured - mean) + self.setup.sensor_covariance
        gain = (points - x).T @ np.diag(weights) @ (measured - mean) @ np.linalg.inv(p_y)
        self.x, self.p = x + gain @ (readings - mean), p - gain @ p_y @ gain.T
        return self.x


class UkfTrapezoidal(Ukf):
    is_trapezoidal = True


class Cekf(Reference):
    def matrix_r(self, z: Array) -> Array:
        return np.asarray(projection(self.setup.linkage, self.model.motion(z, 0.0 * z, self.last).q).matrix_r)

    def derivative_of_r(self, z: Array, along: Array) -> Array:
        """Derivative of R z' by z, for z' = along: its columns by central differences."""
        steps = 1e-6 * np.eye(z.size)
        return np.array([(self.matrix_r(z + d) - self.matrix_r(z - d)) @ along / 2e-6 for d in steps]).T

    def step(self, readings: Array) -> Array:
        c, dt = self.cranks, self.setup.step
        z, rate = self.x[:c], self.x[c:]
        acceleration = self.motion(self.x).qdd[-c:]
        mass, r = self.setup.linkage.mass, self.matrix_r(z)
        reduced = r.T @ mass @ r
        by_angle = -np.linalg.solve(reduced, r.T @ (2.0 * mass @ self.derivative_of_r(z, acceleration)))
        by_rate = -np.linalg.solve(reduced, r.T @ (mass @ self.derivative_of_r(z, rate)))
        f = np.block([[np.zeros((c, c)), np.eye(c)], [by_angle, by_rate]])
        weight = np.linalg.inv(self.setup.sensor_covariance * dt)
        h = self.jacobian(self.x)
        p = self.p + dt * (f @ self.p + self.p @ f.T - self.p @ h.T @ weight @ h @ self.p + self.setup.plant_psd)
        self.p = 0.5 * (p + p.T)
        guess = self.x + dt * np.concatenate([rate, acceleration])
        gain = self.p @ self.jacobian(guess).T @ weight

        def residual(x: Array) -> Array:
            rates = 2.0 / dt * (x - self.x) - np.concatenate([rate, acceleration])
            model = np.concatenate([x[c:], self.motion(x).qdd[-c:]])
            return np.asarray(rates - model - gain @ (readings - self.h_of(x)))

        self.x = np.asarray(root(residual, guess, tol=1e-12).x)
        self.last = self.motion(self.x).q
        return self.x


class Constrained(Reference):
    """Filters in dependent coordinates."""

    def __init__(self, setup: Setup, model: Mechanism, start: Array, covariance: Array) -> None:
        super().__init__(setup, model, start, covariance)
        motion = self.motion(start)
        self.x = np.concatenate([motion.q, motion.qd])

    def constraint(self, x: Array) -> tuple[Array, Array]:
        size, rows = self.model.size, self.model.size - self.cranks
        phi, jacobian, rates = np.empty(rows), np.empty((rows, size)), np.empty((rows, size))
        constraints(self.setup.linkage, x[:size], phi)
        constraint_jacobian(self.setup.linkage, x[:size], jacobian)
        jacobian_rate(self.setup.linkage, x[:size], x[size:], False, rates)
        residual = np.concatenate([phi, jacobian @ x[size:]])
        return residual, np.block([[jacobian, np.zeros_like(jacobian)], [rates, jacobian]])

    def predicted(self) -> None:
        size, dt, f = self.model.size, self.setup.step, self.setup.transition
        q, qd = self.x[:size], self.x[size:]
        _, rows = self.constraint(self.x)
        count = len(rows) // 2
        jacobian, rates = rows[:count, :size], rows[count:, :size]
        # Lagrange multipliers: M qdd + Phi_q' lambda = Q with Phi_q qdd = -Phidot_q qd.
        whole = np.block([[self.setup.linkage.mass, jacobian.T], [jacobian, np.zeros((count, count))]])
        qdd = np.linalg.solve(whole, np.concatenate([self.setup.linkage.force, -rates @ qd]))[:size]
        self.x = np.concatenate([q + dt * qd, qd + dt * qdd])
        self.p = f @ self.p @ f.T + self.setup.plant_noise

    def sensor_jacobian(self, x: Array) -> Array:
        size, count = self.model.size, self.setup.sensors.kinds.size
        by_q, by_qd = np.empty((count, size)), np.empty((count, size))
        measurement_jacobian(self.setup.linkage, self.setup.sensors, x[:size], x[size:], by_q, by_qd)
        return np.hstack([by_q, by_qd])

    def cranks_of(self) -> Array:
        size = self.model.size
        return np.concatenate([self.x[size - self.cranks : size], self.x[-self.cranks :]])


class Sckf(Constrained):
    def step(self, readings: Array) -> Array:
        size = self.model.size
        self.predicted()
        innovation = readings - self.h(self.x[:size], self.x[size:])
        self.x = self.x + self.kalman(innovation, self.sensor_jacobian(self.x), self.setup.sensor_covariance)
        residual, rows = self.constraint(self.x)
        weakening = 0.1 * rows @ self.p @ rows.T
        while True:
            self.x = self.x + self.kalman(-residual, rows, weakening)
            weakening = weakening * np.exp(-1.0)
            residual, rows = self.constraint(self.x)
            if np.linalg.norm(residual) < 1e-3:
                return self.cranks_of()


class Diekf(Constrained):
    def step(self, readings: Array) -> Array:
        size = self.model.size
        self.predicted()
        prior, variance = self.x, 1e-3
        while True:
            residual, rows = self.constraint(self.x)
            jacobian = np.vstack([self.sensor_jacobian(self.x), rows])
            noise = np.diag(np.concatenate([np.diag(self.setup.sensor_covariance), np.full(len(rows), variance)]))
            innovation = np.concatenate([readings - self.h(self.x[:size], self.x[size:]), -residual])
            gain = self.p @ jacobian.T @ np.linalg.inv(jacobian @ self.p @ jacobian.T + noise)
            self.x = prior + gain @ (innovation - jacobian @ (prior - self.x))
            if np.linalg.norm(self.constraint(self.x)[0]) < 1e-3:
                self.p = (np.eye(2 * size) - gain @ jacobian) @ self.p
                return self.cranks_of()
            variance *= np.exp(-1.0)


REFERENCES = {
    "CEKF": Cekf,
    "DEKF": Dekf,
    "UKF-FE": Ukf,
    "UKF-TR": UkfTrapezoidal,
    "SCKF": Sckf,
    "DIEKFpm": Diekf,
    "errorEKF": ErrorEkf,
}
