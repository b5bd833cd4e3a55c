package scenario

import (
	"fmt"
	"testing"

	"github.com/matryer/is"
)

// TestEveryKnownMacCanBeUsed also finds a key in models.toml that nobody reads.
func TestEveryKnownMacCanBeUsed(t *testing.T) {
	known := models()
	if len(known) == 0 {
		t.Fatal("no Mac is known")
	}
	for like, values := range known {
		t.Run(like, func(t *testing.T) {
			is := is.New(t)
			s, err := Parse("one.toml", []byte(fmt.Sprintf("[[mac]]\nname = \"one\"\nlike = %q\n", like)))
			is.NoErr(err)
			mac := s.Macs[0]
			is.True(mac.Identity.Model != "" && mac.Identity.Chip != "" && len(mac.Ports) > 0)
			for i, port := range mac.Ports {
				is.Equal(port.PortNumber, i+1)
				is.True(port.Interface != "")
			}
			checkSound(t, s)

			p := &problems{file: "models.toml"}
			table := newTable("", like, values, p)
			readMac(table, "models", nil)
			for _, problem := range p.list {
				// A model is a Mac but for its name, and "like" is its own name.
				if problem.text != like+`: name is missing; write for example name = "studio-1"` {
					is.True(problem.text[:len(like)+6] == like+": like")
				}
			}
		})
	}
}

// The recorded receptacles that no rule would give.
func TestRecordedInterfacesOfKnownMacs(t *testing.T) {
	is := is.New(t)
	s, err := Parse("two.toml", []byte("mac = [{name = \"m5\", like = \"macbook-pro-m5-max\"}, {name = \"m3\", like = \"mac-studio-m3-ultra\"}]\n"))
	is.NoErr(err)
	for i, want := range []string{"en1", "en6", "en2"} {
		is.Equal(s.Macs[0].Ports[i].Interface, want)
	}
	is.Equal(s.Macs[1].Ports[4].Interface, "en6")
	is.Equal(s.Macs[1].Ports[4].Place, "front-right")
	is.True(s.Macs[1].Ports[0].BesideEthernet)
	is.True(!s.Macs[1].Ports[1].BesideEthernet)
}
