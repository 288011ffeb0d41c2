// memory.
export default {};
