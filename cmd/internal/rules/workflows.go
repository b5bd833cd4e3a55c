package rules

// checkWorkflows reads the workflows with the actionlint that go.mod pins: keys,
// expressions, the names of machines, what jobs need of each other. Tools that a
// machine may have or lack are not asked for more.
func checkWorkflows(t *Tree) ([]Problem, error) {
	args := []string{"tool", "actionlint", "-no-color", "-oneline", "-shellcheck=", "-pyflakes="}
	plain := len(args)
	for _, name := range t.files {
		if !isWorkflow(name) {
			continue
		}
		if _, err := t.read(name); err != nil { // read here too, so that a cached result of the test ends when it changes
			return nil, err
		}
		args = append(args, name)
	}
	if len(args) == plain {
		return nil, nil
	}
	return t.goTool(args...)
}
