# Writes the paraview* files of this folder: `pvbatch write_paraview.py` inside it (ParaView 5.11, Debian `paraview`).
import os

from paraview.simple import OpenDataFile, SaveData

grid = OpenDataFile(os.path.abspath("gmsh.vtk"))
SaveData(os.path.abspath("paraview.vtu"), proxy=grid)
SaveData(os.path.abspath("paraview_zlib.vtu"), proxy=grid, CompressorType="ZLib")
SaveData(os.path.abspath("paraview.vtk"), proxy=grid)
SaveData(os.path.abspath("paraview_ascii.vtk"), proxy=grid, FileType="Ascii")
