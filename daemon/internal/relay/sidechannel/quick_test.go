package sidechannel_test

import (
	"testing"
	"time"

	"fulmen/daemon/e2e/jaccl"
)

// A rank that ends as soon as it has joined takes nothing away that it has said:
// whoever has yet to hear it joins too.
func TestARankThatEndsAtOnceHasBeenHeard(t *testing.T) {
	for victim := range 3 {
		bubble(t, 3, func(t *testing.T, d *scenario) {
			var programs []*program
			for rank := range 3 {
				programs = append(programs, d.run(ref(rank), d.open(ref(rank)), func(p *program, s jaccl.Step) {
					if rank == victim && s == jaccl.StepJoined {
						p.kill()
						d.nodes[rank].channels.Close(ref(rank))
					}
				}))
			}
			pass(5 * time.Second)
			for _, p := range programs {
				p.joins(t)
			}
		})
	}
}
