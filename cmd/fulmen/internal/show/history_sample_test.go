package show

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// clusterHistory is what a cable gave that got worse.
func clusterHistory() api.LinkHistoryResult {
	row := clusterLinks().Rows[0]
	path := api.PathHistory{LinkRowKey: row.LinkRowKey}
	for i := range 12 {
		rate := int64(60.7e9)
		if i < 2 {
			rate = 31e9
		}
		path.Results = append(path.Results, api.LinkResult{MeasuredAt: before(time.Duration(i+1) * 5 * time.Minute),
			UpBitsPerS: &rate, DownBitsPerS: ptr(int64(52.6e9)), RTTUS: ptr(340.), JitterUS: ptr(31.)})
	}
	path.Best, path.Median = &path.Results[4], &path.Results[3]
	return api.LinkHistoryResult{Paths: []api.PathHistory{path}}
}

// What one end measured and both tell is one line; what differs stays two.
func TestFolded(t *testing.T) {
	is := is.New(t)
	there := clusterLinks().Rows[0]
	back := there
	back.From, back.To, back.Name = there.To, there.From, string(there.From)+"/169.254.1.1"
	back.UpBitsPerS, back.DownBitsPerS = there.DownBitsPerS, there.UpBitsPerS
	is.Equal(folded([]api.LinkRow{there, back}), []api.LinkRow{there})
	is.Equal(len(folded([]api.LinkRow{there, there, back, back})), 2) // two addresses
	is.Equal(len(folded([]api.LinkRow{there, back, back})), 2)
	other := back
	other.UpBitsPerS = ptr(int64(1))
	is.Equal(len(folded([]api.LinkRow{there, other})), 2)
	silent := back // the end that does not answer says nothing new
	silent.Verdict, silent.Reasons = api.VerdictUnknown, []api.Reason{api.ReasonUnreachable}
	is.Equal(folded([]api.LinkRow{silent, there}), []api.LinkRow{there})
	is.Equal(folded([]api.LinkRow{there, silent}), []api.LinkRow{there})
	own := there
	own.To = own.From
	is.Equal(len(folded([]api.LinkRow{own, own})), 2) // loopback has no other end
}
