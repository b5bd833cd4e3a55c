package facts

import (
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native"
)

func TestALinuxWithoutMemoryPressureSaysSo(t *testing.T) {
	is := is.New(t)
	silent := native.Capabilities{native.HintsFeature(native.AreaMemory): {Reason: native.ReasonNoOS.With("no /proc/pressure")}}
	code, detail := Unannounced("linux", silent)
	is.Equal(code, api.ReasonPSIUnavailable)
	is.Equal(detail, "no /proc/pressure")
	code, _ = Unannounced("darwin", silent)
	is.Equal(code, api.Reason(""))
}
