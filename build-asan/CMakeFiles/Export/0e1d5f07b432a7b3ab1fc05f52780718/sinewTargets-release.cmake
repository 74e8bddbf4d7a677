#----------------------------------------------------------------
# Generated CMake target import file for configuration "Release".
#----------------------------------------------------------------

# Commands may need to know the format version.
set(CMAKE_IMPORT_FILE_VERSION 1)

# Import target "sinew::sinew" for configuration "Release"
set_property(TARGET sinew::sinew APPEND PROPERTY IMPORTED_CONFIGURATIONS RELEASE)
set_target_properties(sinew::sinew PROPERTIES
  IMPORTED_LOCATION_RELEASE "${_IMPORT_PREFIX}/lib/libsinew.so.0.1.0"
  IMPORTED_SONAME_RELEASE "libsinew.so.0"
  )

list(APPEND _cmake_import_check_targets sinew::sinew )
list(APPEND _cmake_import_check_files_for_sinew::sinew "${_IMPORT_PREFIX}/lib/libsinew.so.0.1.0" )

# Import target "sinew::sinew_single" for configuration "Release"
set_property(TARGET sinew::sinew_single APPEND PROPERTY IMPORTED_CONFIGURATIONS RELEASE)
set_target_properties(sinew::sinew_single PROPERTIES
  IMPORTED_LOCATION_RELEASE "${_IMPORT_PREFIX}/lib/libsinew_single.so.0.1.0"
  IMPORTED_SONAME_RELEASE "libsinew_single.so.0"
  )

list(APPEND _cmake_import_check_targets sinew::sinew_single )
list(APPEND _cmake_import_check_files_for_sinew::sinew_single "${_IMPORT_PREFIX}/lib/libsinew_single.so.0.1.0" )

# Commands beyond this point should not need to know the version.
set(CMAKE_IMPORT_FILE_VERSION)
