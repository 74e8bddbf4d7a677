# What `make install` puts where: headers, both libraries (shared and static), both commands
# and the programs of their experiments, the pkg-config files
# sinew.pc and sinew_single.pc, the CMake package (find_package(sinew): sinew::sinew, sinew::sinew_single), the example
# scenes and the documents.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# What a program that links the static library must name besides it.
set(SINEW_STATIC_LIBRARIES "-lamd -lcamd -lsuitesparseconfig -pthread -lm")
set(SINEW_STATIC_PACKAGES "jansson zlib")

# What is installed, and nothing that only tests need: `make` builds this.
add_custom_target(product)

function(sinew_install name single)
  add_dependencies(product ${name} ${name}_static)
  install(TARGETS ${name} EXPORT sinewTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
          INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(TARGETS ${name}_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  if(TARGET ${name}_command)
    add_dependencies(product ${name}_command ${name}_reproduce)
    install(TARGETS ${name}_command ${name}_reproduce RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
  set(SINEW_PC_NAME ${name})
  set(SINEW_PC_PRECISION double)
  set(SINEW_PC_DEFINE "")
  if(single)
    set(SINEW_PC_PRECISION single)
    set(SINEW_PC_DEFINE " -DSINEW_SINGLE")
  endif()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/sinew.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

if(TARGET sinew)
  sinew_install(sinew FALSE)
endif()
if(TARGET sinew_single)
  sinew_install(sinew_single TRUE)
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/sinew)
install(EXPORT sinewTargets NAMESPACE sinew:: DESTINATION ${package_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/sinewConfig.cmake.in ${PROJECT_BINARY_DIR}/sinewConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/sinewConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/sinewConfig.cmake ${PROJECT_BINARY_DIR}/sinewConfigVersion.cmake
        DESTINATION ${package_dir})

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/sinew DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/scenes DESTINATION ${CMAKE_INSTALL_DATADIR}/sinew)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
