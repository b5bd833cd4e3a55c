package daemon

import (
	"context"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/health"
	"fulmen/native"
)

// noDocuments takes conditions and keeps none.
type noDocuments struct{}

func (noDocuments) Put(api.Kind, string, any, map[string]api.Reason) error { return nil }
func (noDocuments) Delete(api.Kind, string) error                          { return nil }

func conditionsOf(d *daemon) (all []string) {
	for _, c := range d.health.Shown() {
		all = append(all, string(c.Code)+"/"+c.Subject)
	}
	return all
}

// silentPlatform announces nothing, for a reason.
type silentPlatform struct{ native.Facts }

func (silentPlatform) Capabilities(context.Context) (native.Capabilities, error) {
	return native.Capabilities{native.HintsFeature(native.AreaMemory): {Reason: native.ReasonNoOS.With("no /proc/pressure")}}, nil
}

func TestALinuxWithoutMemoryPressureSaysSo(t *testing.T) {
	is := is.New(t)
	for name, want := range map[string][]string{"linux": {string(api.ReasonPSIUnavailable) + "/"}, "darwin": nil} {
		d := &daemon{health: health.New(noDocuments{}, time.Now), platform: native.Platform{Name: name, Facts: silentPlatform{}}}
		d.tellPlatform(t.Context())
		is.Equal(conditionsOf(d), want)
	}
}
