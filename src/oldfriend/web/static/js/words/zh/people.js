// people.
export default {};
