// The kinds of entity and their groups.
export const KINDS = {
  person: "people_person", pet: "people_pet", place: "people_place", org: "people_org", other: "people_other",
};
export const GROUPS = {
  family: "people_family", friends: "people_friends", work: "people_work", pets: "people_pets", places: "people_places", others: "people_others",
};
