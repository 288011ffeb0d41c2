// welcome.
export default {};
