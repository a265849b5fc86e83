"""Double wishbone, struts and Pitman steering: closed-form kinematics and sums over their bodies."""
