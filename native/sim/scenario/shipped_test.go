package scenario

import (
	"fmt"
	"slices"
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

// What is measured of every two Macs is of each two that nothing else is said of: with
// uneven cables not of the slow one.
func TestMeasuredOfEveryTwo(t *testing.T) {
	is := is.New(t)
	rows := func(name string) (all []string) {
		s, err := Load(name)
		is.NoErr(err)
		for _, l := range s.Measurements.Links {
			all = append(all, fmt.Sprint(l.From, " ", l.To, " ", l.Transport, " ", l.Over, " ", l.UpBitsPerS/1e6, " ", l.JitterUS))
		}
		return all
	}
	is.Equal(rows("two-hubs"), []string{
		"studio-1 book-1 socket tb4 63600 45", "studio-2 book-2 socket tb4 63600 45",
		"studio-1 studio-2 socket lan 9400 20", // as its own says
		"studio-1 book-1 socket lan 700 1200", "studio-1 book-2 socket lan 700 1200",
		"studio-2 book-1 socket lan 700 1200", "studio-2 book-2 socket lan 700 1200", "book-1 book-2 socket lan 700 1200",
	})
	uneven := rows("uneven-cables")
	is.Equal(len(uneven), 4+4+3) // four of five cables, two of three Macs
	is.True(slices.Contains(uneven, "studio-2 studio-3 rdma tb6 74800 2"))
	is.True(!slices.ContainsFunc(uneven, func(row string) bool { return row == "studio-1 studio-3 rdma tb3 74800 2" }))
}
