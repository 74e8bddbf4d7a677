#!/usr/bin/python3
# Writes the vtk_* files of this folder with VTK's own writers (Debian: python3-vtk9). Run inside the folder.
import vtk

points = vtk.vtkPoints()
points.SetDataTypeToDouble()
for i in range(3):
    for x, y, z in ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)):
        points.InsertNextPoint(x / 3 + 0.1 * i, y / 7, z + i)
grid = vtk.vtkUnstructuredGrid()
grid.SetPoints(points)


def cell(kind, corners):
    ids = vtk.vtkIdList()
    for c in corners:
        ids.InsertNextId(c)
    grid.InsertNextCell(kind, ids)


for i in range(3):
    cell(vtk.VTK_TETRA, [4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3])
cell(vtk.VTK_TRIANGLE, [0, 1, 2])
cell(vtk.VTK_LINE, [0, 4])
cell(vtk.VTK_POLY_LINE, [3, 7, 11])
cell(vtk.VTK_QUAD, [0, 1, 5, 4])
cell(vtk.VTK_VERTEX, [2])
cell(vtk.VTK_WEDGE, [0, 1, 2, 4, 5, 6])

# Arrays a reader must step over, one with metadata, and a field before the points.
scalar = vtk.vtkDoubleArray()
scalar.SetName("a \"name\" <with> marks")
for i in range(12):
    scalar.InsertNextValue(i * 0.5)
grid.GetPointData().AddArray(scalar)
scalar.GetRange()
vector = vtk.vtkFloatArray()
vector.SetName("motion")
vector.SetNumberOfComponents(3)
for i in range(9):
    vector.InsertNextTuple3(i, i, i)
grid.GetCellData().AddArray(vector)
time = vtk.vtkDoubleArray()
time.SetName("TimeValue")
time.InsertNextValue(0.25)
grid.GetFieldData().AddArray(time)

poly = vtk.vtkPolyData()
poly.SetPoints(points)


def cells(lists):
    array = vtk.vtkCellArray()
    for corners in lists:
        array.InsertNextCell(len(corners))
        for c in corners:
            array.InsertCellPoint(c)
    return array


poly.SetVerts(cells([[0], [1]]))
poly.SetLines(cells([[0, 4, 8], [1, 5]]))
poly.SetPolys(cells([[0, 1, 2], [0, 1, 5, 4]]))
poly.SetStrips(cells([[3, 7, 2, 6, 11]]))
poly.GetFieldData().AddArray(time)

for binary in (False, True):
    for version in (42, 51):
        for name, data, make in (("grid", grid, vtk.vtkUnstructuredGridWriter), ("poly", poly, vtk.vtkPolyDataWriter)):
            writer = make()
            writer.SetInputData(data)
            writer.SetFileVersion(version)
            writer.SetFileTypeToBinary() if binary else writer.SetFileTypeToASCII()
            writer.SetFileName(f"vtk_{name}_{version}{'_binary' if binary else ''}.vtk")
            writer.Write()

for mode in ("ascii", "base64", "raw", "appended64"):
    for header in (32, 64):
        for zlib in (False, True):
            for big in (False, True):
                if mode == "ascii" and (zlib or big or header == 64):
                    continue
                if big and (zlib == (header == 32)):
                    continue  # two of the four suffice for swapped bytes
                writer = vtk.vtkXMLUnstructuredGridWriter()
                writer.SetInputData(grid)
                {"ascii": writer.SetDataModeToAscii, "base64": writer.SetDataModeToBinary,
                 "raw": writer.SetDataModeToAppended, "appended64": writer.SetDataModeToAppended}[mode]()
                writer.SetEncodeAppendedData(mode == "appended64")
                writer.SetHeaderTypeToUInt32() if header == 32 else writer.SetHeaderTypeToUInt64()
                writer.SetCompressorTypeToZLib() if zlib else writer.SetCompressorTypeToNone()
                writer.SetByteOrderToBigEndian() if big else writer.SetByteOrderToLittleEndian()
                if zlib:
                    writer.SetBlockSize(128)  # several blocks an array, the last one shorter
                writer.SetFileName(f"vtk_{mode}_{header}{'_zlib' if zlib else ''}{'_big' if big else ''}.vtu")
                writer.Write()

append = vtk.vtkXMLUnstructuredGridWriter()
append.SetInputData(grid)
append.SetCompressorTypeToLZ4()
append.SetFileName("vtk_lz4.vtu")
append.Write()
pieces = vtk.vtkXMLUnstructuredGridWriter()
pieces.SetInputData(grid)
pieces.SetNumberOfPieces(3)
pieces.SetDataModeToAscii()
pieces.SetFileName("vtk_pieces.vtu")
pieces.Write()
