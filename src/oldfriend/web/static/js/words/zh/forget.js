// forget.
export default {};
