package mac

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestWhatIsSaidOfARefusedSignature(t *testing.T) {
	here := bundle{"/Applications/Fulmen.app"}
	refused := &systemError{serviceErrors, invalidSignature, "Codesigning failure loading plist: org.fulmen.daemon code: -67028."}
	for _, tt := range []struct {
		name string
		err  error
		hand bool // by hand is how it goes on
	}{
		{"nothing", nil, false},
		{"the signature", refused, true},
		{"another error of the service", &systemError{serviceErrors, 1, "Operation not permitted"}, false},
		{"the same number of something else", &systemError{"NSPOSIXErrorDomain", invalidSignature, "No such process"}, false},
		{"an error of ours", errors.New("macOS does not say why"), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			is := is.New(t)
			err := here.refused(tt.err)
			if !tt.hand {
				is.Equal(err, tt.err)
				return
			}
			is.True(errors.Is(err, tt.err))
			is.True(strings.Contains(err.Error(), "Codesigning failure loading plist: org.fulmen.daemon code: -67028 (SMAppServiceErrorDomain 3). "))
			is.True(strings.HasSuffix(err.Error(), here.jobByHand()))
		})
	}
}

// People find the same command where they read how Fulmen is built from source.
func TestTheJobByHandIsInTheDocumentation(t *testing.T) {
	is := is.New(t)
	text, err := os.ReadFile("../../docs/install.md")
	is.NoErr(err)
	command := bundle{"/Applications/Fulmen.app"}.jobByHand()
	is.True(strings.Contains(string(text), "    "+strings.ReplaceAll(command, "'", "")+"\n")) // no quotes are needed there
}
