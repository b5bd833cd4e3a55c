package scenario

import (
	"testing"

	"github.com/matryer/is"
)

func TestEveryShippedScenarioLoads(t *testing.T) {
	for _, name := range Shipped() {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			s, err := Load(name)
			is.NoErr(err)
			is.Equal(s.Name, name)
			is.True(s.Title != "")
			is.NoErr(s.Check())
		})
	}
}
