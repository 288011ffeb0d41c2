// settings.
export default {};
