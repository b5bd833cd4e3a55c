package darwin

import (
	"testing"

	"github.com/matryer/is"

	"fulmen/native"
)

// Which systems have the driver, and what a program is told that was built with an older
// SDK: never that a system is too old that is not.
func TestWhichSystemHasTheDriver(t *testing.T) {
	for _, c := range []struct {
		version, build string
		has            bool
		unknown        bool
		reported       string
	}{
		{"26.2", "25C56", true, false, "26.2"},
		{"26.1", "25B78", false, false, "26.1"},
		{"26.6.2", "25G83", true, false, "26.6.2"},
		{"27.0", "26A428", true, false, "27.0"},
		{"27.2", "26B5091g", true, false, "27.2"},
		{"28.0", "27A1", true, false, "28.0"}, // of which nothing is known: the driver has not been taken away so far
		{"27", "", true, false, "27"},
		{"15.7", "24G222", false, false, "15.7"},
		{"16.2", "25C56", true, false, ""},
		{"16.1", "25B78", false, false, ""},
		{"16.0", "26A428", true, false, ""},
		{"16.0", "", false, true, ""},
		{"16.0", "nonsense", false, true, ""},
		{"garbage", "25C56", true, false, "garbage"},
		{"garbage", "garbage", false, true, "garbage"},
		{"26.x", "", false, true, "26.x"},
	} {
		t.Run(c.version+" "+c.build, func(t *testing.T) {
			is := is.New(t)
			values := studio()
			values["kern.osproductversion"], values["kern.osversion"] = []byte(c.version+"\x00"), []byte(c.build+"\x00")
			has, why := hasDriver(values)
			is.Equal(has, c.has)
			is.Equal(why != "", c.unknown)
			m := withoutC(nil)
			m.kernel = values
			id := m.identity()
			is.Equal(native.CheckUnknown(id), nil)
			is.Equal(id.OSVersion, c.reported)
		})
	}
}
