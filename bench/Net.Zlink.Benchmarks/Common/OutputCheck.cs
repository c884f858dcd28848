namespace Net.Zlink.Benchmarks.Common;

/// <summary>Whether what a run leaves behind can be written: looked at before it, because afterwards its figures would be lost.</summary>
internal static class OutputCheck
{
    /// <summary>Makes the folder that the file goes to. A file that is there stays as it is.</summary>
    /// <exception cref="RequestException">It cannot be written there.</exception>
    public static void File(FileInfo? file)
    {
        if (file is null)
        {
            return;
        }

        try
        {
            file.Directory?.Create();
            bool isNew = !file.Exists;
            using (file.Open(FileMode.OpenOrCreate, FileAccess.Write))
            {
                // That it opens is what was asked.
            }

            if (isNew)
            {
                file.Delete();
            }
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new RequestException($"{file.FullName} cannot be written: {e.Message}", e);
        }
    }

    /// <summary>Makes the folder.</summary>
    /// <param name="folder">Null if nothing is to be written.</param>
    /// <param name="name">The file that goes into it.</param>
    /// <exception cref="RequestException">It cannot be written there.</exception>
    public static void Folder(DirectoryInfo? folder, string name) =>
        File(folder is null ? null : new FileInfo(Path.Combine(folder.FullName, name)));
}
