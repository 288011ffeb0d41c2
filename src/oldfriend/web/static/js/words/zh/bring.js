// bring.
export default {};
