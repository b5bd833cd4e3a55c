package native_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/native"
)

func TestTimestamp(t *testing.T) {
	is := is.New(t)
	berlin := time.FixedZone("", 3600)
	stamp := native.Stamp(time.Date(2026, 11, 21, 13, 0, 0, 1_999_999, berlin))
	text, err := json.Marshal(stamp)
	is.NoErr(err)
	is.Equal(string(text), `"2026-11-21T12:00:00.001Z"`)
	for in, ok := range map[string]bool{
		`"2026-11-21T12:00:00.001Z"`: true, `"2026-11-21T13:00:00.0019+01:00"`: true,
		`"2026-11-21"`: false, `1732190400`: false, `"`: false, `null`: false,
	} {
		var back native.Timestamp
		err := json.Unmarshal([]byte(in), &back)
		is.Equal(err == nil, ok) // null is not a time either
		if ok {
			is.Equal(back, stamp)
		}
	}
	_, err = json.Marshal(native.Stamp(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)))
	is.True(err != nil)
}
