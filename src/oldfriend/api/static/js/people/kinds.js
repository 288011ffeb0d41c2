// What sorts of things with names there are.
export const KINDS = {
  person: "people_person", pet: "people_pet", place: "people_place", org: "people_org", other: "people_other",
};
