package collective

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api/worker"
)

func TestCard(t *testing.T) {
	is := is.New(t)
	is.Equal(member(3, card("studio-2", 977)), worker.Member{Rank: 3, Host: "studio-2", PID: 977})
	long := strings.Repeat("ä", 60) // 120 bytes, cut at 60
	is.Equal(member(0, card(long, 1)).Host, strings.Repeat("ä", 30))
	cut := strings.Repeat("a", 59) + "ä" // cut in the middle of a character
	is.Equal(member(0, card(cut, 1)).Host, strings.Repeat("a", 59))
}
