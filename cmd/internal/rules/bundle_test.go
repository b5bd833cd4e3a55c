package rules

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"testing"

	"fulmen/daemon/api"
)

// TestInfoPlist holds the bundle's Info.plist to the names in the contract:
// launchd, privacy consent and discovery go by them.
func TestInfoPlist(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "Info.plist"))
	if err != nil {
		t.Fatal(err)
	}
	var plist struct {
		Dict struct {
			Keys    []string `xml:"key"`
			Strings []string `xml:"string"`
			Array   struct {
				Strings []string `xml:"string"`
			} `xml:"array"`
			True []struct{} `xml:"true"`
		} `xml:"dict"`
	}
	if err := xml.Unmarshal(text, &plist); err != nil {
		t.Fatal(err)
	}
	has := func(list []string, want string) {
		t.Helper()
		for _, one := range list {
			if one == want {
				return
			}
		}
		t.Errorf("Info.plist lacks %q", want)
	}
	for _, key := range []string{"CFBundleIdentifier", "CFBundleExecutable", "LSMinimumSystemVersion", "LSUIElement", "NSLocalNetworkUsageDescription", "NSBonjourServices"} {
		has(plist.Dict.Keys, key)
	}
	for _, value := range []string{api.BundleID, api.BundleExecutable, api.MinMacOS} {
		has(plist.Dict.Strings, value)
	}
	has(plist.Dict.Array.Strings, api.ServiceType)
	if len(plist.Dict.True) != 2 { // LSUIElement and NSHighResolutionCapable
		t.Errorf("Info.plist has %d true values, want 2", len(plist.Dict.True))
	}
}
