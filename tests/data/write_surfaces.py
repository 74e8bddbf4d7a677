#!/usr/bin/python3
# Writes the vtk_surface* files of this folder with VTK's own writers (Debian: python3-vtk9). Run inside the folder.
import vtk

source = vtk.vtkConeSource()
source.SetResolution(6)
source.SetCenter(0.1, 0.2, 0.3)
source.Update()
cone = source.GetOutput()  # a hexagon and six triangles
triangles = vtk.vtkTriangleFilter()
triangles.SetInputData(cone)
triangles.Update()


def write(writer, name, data):
    writer.SetInputData(data)
    writer.SetFileName(name)
    writer.Write()


for mode in ("ASCII", "Binary"):
    for order in ("LittleEndian", "BigEndian"):
        if mode == "ASCII" and order == "BigEndian":
            continue
        ply = vtk.vtkPLYWriter()
        getattr(ply, "SetFileTypeTo" + mode)()
        getattr(ply, "SetDataByteOrderTo" + order)()
        write(ply, f"vtk_surface_{mode.lower()}{'_big' if order[0] == 'B' else ''}.ply", cone)
    stl = vtk.vtkSTLWriter()
    getattr(stl, "SetFileTypeTo" + mode)()
    write(stl, f"vtk_surface_{mode.lower()}.stl", triangles.GetOutput())
write(vtk.vtkOBJWriter(), "vtk_surface.obj", cone)
blocks = vtk.vtkMultiBlockDataSet()
inner = vtk.vtkMultiBlockDataSet()
inner.SetBlock(0, triangles.GetOutput())
blocks.SetBlock(0, inner)
for name, inline in (("vtk_surface.gltf", True), ("vtk_surface_beside.gltf", False)):
    gltf = vtk.vtkGLTFWriter()
    gltf.SetInlineData(inline)
    gltf.SetSaveNormal(True)
    try:
        write(gltf, name, blocks)
    except Exception as trouble:
        print(name, trouble)
