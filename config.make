# Appended to nginx's Makefile: the C++ objects of the module (see config). -g1 as in CMake's release.
cat << END >> $NGX_MAKEFILE

SLUICE_CXXFLAGS = $sluice_std -O2 -g1 -fPIC -pthread -fvisibility=hidden -fvisibility-inlines-hidden \\
	-fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -Wno-subobject-linkage \\
	-I $ngx_addon_dir -isystem $sluice_objs/generated

$NGX_OBJS/$ngx_addon_name.so: $sluice_objs/libsluice.a

END

sluice_archive=
for sluice_unit in $sluice_units; do
    sluice_archive="$sluice_archive $sluice_objs/$sluice_unit.o"
done

cat << END >> $NGX_MAKEFILE
$sluice_objs/%.o: $sluice_objs/%.cpp
	$sluice_cxx \$(SLUICE_CXXFLAGS) \$(CXXFLAGS) \$(ALL_INCS) -c -o \$@ \$<

$sluice_objs/libsluice.a: $sluice_archive
	rm -f \$@
	ar rcs \$@ $sluice_archive
END
