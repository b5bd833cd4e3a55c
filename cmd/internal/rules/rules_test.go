package rules

import "testing"

// TestHouseRules runs every rule on this repository.
func TestHouseRules(t *testing.T) {
	tree, err := findTree()
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range allRules() {
		t.Run(rule.Name, func(t *testing.T) {
			t.Parallel()
			problems, err := rule.Check(tree)
			if err != nil {
				t.Fatalf("the check could not be made: %v", err)
			}
			for _, p := range problems {
				t.Error(p)
			}
			if len(problems) > 0 {
				t.Logf("why this rule: %s", rule.Why)
			}
		})
	}
}
