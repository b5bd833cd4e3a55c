package browser

import (
	"fmt"
	"os"
	"testing"

	"fulmen/daemon/e2e/testcluster"
)

// The page shows sixteen real daemons as it shows four. FULMEN_SOAK=1 has it run:
// until sixteen daemons on two cores are one cluster takes longer than all other
// tests of the page; those look at sixteen Macs of a stand-in.
func TestSixteenDaemons(t *testing.T) {
	if os.Getenv("FULMEN_SOAK") == "" {
		t.Skip("FULMEN_SOAK is not set")
	}
	onCluster(t, timeout, func(*testcluster.Stage) (string, []string) {
		var macs []string
		for i := range 16 {
			macs = append(macs, fmt.Sprintf("studio-%d", i+1))
		}
		return "sixteen", macs
	}, "browser/sixteen/vitest.config.ts")
}
