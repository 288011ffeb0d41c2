// days.
export default {};
