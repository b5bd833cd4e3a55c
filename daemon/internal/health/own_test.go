package health

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// A condition holds while it has a detail, and what cannot be published, and that
// alone, the log has.
func TestOwnConditions(t *testing.T) {
	for name, do := range map[string]func(o *Health, detail string){
		"config_invalid": func(o *Health, detail string) { o.Set(api.ReasonConfigInvalid, detail) },
		"disk_full//tmp": func(o *Health, detail string) { o.SetOf(api.ReasonDiskFull, "/tmp", detail) },
		"disk_full": func(o *Health, detail string) {
			if detail == "" {
				o.Clear(api.ReasonOutputLost, api.ReasonDiskFull)
			} else {
				o.Raise(api.ReasonDiskFull, detail)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			h, b, _ := rig()
			var logged bytes.Buffer
			own := logging(h, slog.New(slog.NewTextHandler(&logged, nil)))
			do(own, "line 3")
			is.Equal(b.names(), []string{name})
			is.True(strings.HasSuffix(b.docs[name].Text, ": line 3."))
			do(own, "")
			is.Equal(b.names(), []string{})
			is.Equal(logged.String(), "") // all went well

			b.fails = 1
			do(own, "line 3")
			is.True(strings.Contains(logged.String(), "the disk is full"))
			logged.Reset()
			do(own, "line 4") // what was not published is tried again
			is.Equal(b.names(), []string{name})
			b.fails = 1
			do(own, "")
			is.True(strings.Contains(logged.String(), "the disk is full"))
		})
	}
}
