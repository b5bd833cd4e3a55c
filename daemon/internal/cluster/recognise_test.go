package cluster

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func TestDailyID(t *testing.T) {
	is := is.New(t)
	const here, there api.ClusterID = "00112233445566778899aabbccddeeff", "ffeeddccbbaa99887766554433221100"
	one, two := testIdentity(1).Node, testIdentity(2).Node
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	id := DailyID(here, one, UseDial, noon)
	is.Equal(len(id), 32)
	is.Equal(id, DailyID(here, one, UseDial, noon.Add(11*time.Hour)))
	is.True(id != DailyID(here, one, UseDial, noon.Add(12*time.Hour))) // midnight
	for name, found := range map[string]bool{
		"today": IsDailyID(id, here, one, UseDial, noon), "tomorrow": IsDailyID(id, here, one, UseDial, noon.AddDate(0, 0, 1)),
		"yesterday": IsDailyID(id, here, one, UseDial, noon.AddDate(0, 0, -1)),
	} {
		is.True(found) // clocks differ
		_ = name
	}
	is.True(!IsDailyID(id, here, one, UseDial, noon.AddDate(0, 0, 2)))
	is.True(!IsDailyID(id, here, two, UseDial, noon))
	is.True(!IsDailyID(id, there, one, UseDial, noon))
	is.True(!IsDailyID(id, here, one, UseAnnounce, noon)) // what is announced opens nothing
	is.True(!IsDailyID("", here, one, UseDial, noon))
}
