package golden

// GroupsOf returns how many groups must survive in a check.
func GroupsOf(id string) (int, bool) {
	s, ok := strategies[id]
	return s.groups, ok && s.whole == ""
}
