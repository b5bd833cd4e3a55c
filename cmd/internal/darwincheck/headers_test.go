package darwincheck

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// TestOwnHeadersGiveNoMoreThanApples holds the headers that stand in for Apple's
// to what those include and declare. That a C file includes what it uses, its
// compilation says then.
func TestOwnHeadersGiveNoMoreThanApples(t *testing.T) {
	is := is.New(t)
	apple, err := parseHeaders(appleHeaders)
	is.NoErr(err)
	own, err := ownHeaders(repository)
	is.NoErr(err)
	unused := maps.Clone(apple.declares)
	for _, header := range slices.Sorted(maps.Keys(own)) {
		for _, fault := range apple.faults(header, own[header]) {
			t.Error(fault)
		}
		for _, name := range declared(own[header]) {
			delete(unused, name)
		}
	}
	is.Equal(slices.Sorted(maps.Keys(unused)), nil) // in headers.txt, and declared by no header of ours
}

func TestMoreThanApplesIsFound(t *testing.T) {
	const list = "# Kit\n\nKit/Kit.h Kit/KitBase.h stdint.h\n\tKitOpen KitItem\n\nKit/KitBase.h\n\tKitRef KitKind\n\nKit/KitTags.h\n\tkKitPrompt\n"
	for _, test := range []struct{ name, header, text, want string }{
		{"all is well", "Kit/Kit.h", "#include <stdint.h>\ntypedef struct kit *KitRef; // and kKitPrompt\nint KitOpen(KitRef kit);\n", ""},
		{"a name of a header that Apple's does not include", "Kit/Kit.h", "#define kKitPrompt \"prompt\"\n", "Kit/Kit.h declares kKitPrompt, which Apple has in <Kit/KitTags.h>"},
		{"a name of a header that includes Apple's", "Kit/KitBase.h", "int KitOpen(KitRef kit);\n", "Kit/KitBase.h declares KitOpen, which Apple has in <Kit/Kit.h>"},
		{"a name that nobody knows", "Kit/Kit.h", "extern const int kKitOther;\n", "Kit/Kit.h declares kKitOther: say in headers.txt which of Apple's headers does"},
		{"a header that Apple's does not include", "Kit/Kit.h", "#include <Kit/KitTags.h>\n", "Kit/Kit.h includes <Kit/KitTags.h>, and Apple's does not"},
	} {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			apple, err := parseHeaders(list)
			is.NoErr(err)
			is.Equal(strings.Join(apple.faults(test.header, test.text), "\n"), test.want)
		})
	}
	is := is.New(t)
	for _, twice := range []string{"a.h\n\tX\nb.h\n\tX\n", "a.h\na.h\n", "\tX\n"} {
		_, err := parseHeaders(twice)
		is.True(err != nil)
	}
}

func TestDeclaredNames(t *testing.T) {
	is := is.New(t)
	is.Equal(declared(`#ifndef FULMEN_KIT_H
#define LIMIT 1 /* not OTHER */
typedef unsigned char Flag;
typedef char name_t[128];
typedef const struct __Kit *KitRef;
typedef struct { int a; const void *(*retain)(const void *info); } Context;
typedef struct { int fulmen; } fulmen_kit;
struct other;
typedef void (*Callback)(KitRef kit, void *info);
enum { kOne = 1, kTwo = 1 << 1, kThree, };
enum { kLast };
static inline Flag Make(int a) {
	Flag made[] = {1, 2};
	if (a) { return made[0]; }
	return made[1];
}
extern const Flag kFlag; // kNot
const char *Text(int status);
Flag KitSet(KitRef kit,
	CFStringRef key);
#endif
`), []string{"Callback", "Context", "Flag", "KitRef", "KitSet", "LIMIT", "Make", "Text", "kFlag", "kLast", "kOne", "kThree", "kTwo", "name_t"})
}
