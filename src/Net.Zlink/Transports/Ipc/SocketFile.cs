using System.Security.Cryptography;

namespace Net.Zlink.Transports.Ipc;

/// <summary>
/// The file of a bound socket, as far as .NET shows it. Neither its device and inode nor its type can be read without native code, so a
/// file of ours is told from a successor's by its time of writing, whose part below the second we set at random when we bind: another
/// file's agrees with odds of 1 to 10,000,000 and only if it was made within the same second. (The kernel never changes that time; whoever
/// does by hand makes the file one that we leave behind.)
/// </summary>
internal sealed class SocketFile
{
    private readonly string _path;
    private readonly string? _directory;
    private readonly DateTime _mark;

    private SocketFile(string path, string? directory, DateTime mark)
    {
        _path = path;
        _directory = directory;
        _mark = mark;
    }

    /// <summary>
    /// Closes a file that was just bound, and that nobody can connect to before the socket listens, to other users. (Also those of the
    /// owner's group: the native core leaves it to the umask, which commonly lets everybody in.)
    /// </summary>
    /// <exception cref="IOException">The file is gone, or the system refuses.</exception>
    /// <exception cref="UnauthorizedAccessException">The system refuses.</exception>
    public static void Protect(string path)
    {
        if (!OperatingSystem.IsWindows()) // which keeps rights elsewhere
        {
            File.SetUnixFileMode(path, UnixFileMode.UserRead | UnixFileMode.UserWrite);
        }
    }

    /// <summary>
    /// Marks the file of a socket that listens by now as ours. Not earlier: until a socket listens its file looks dead, and another process
    /// may take it away; then either that one finds the mark changed and gives it back, or we find it gone.
    /// </summary>
    /// <param name="path">The absolute path, so that a later change of the working directory makes no difference.</param>
    /// <param name="directory">A directory made for this file, to be removed with it; null for none.</param>
    /// <exception cref="IOException">The file is gone, or the system refuses.</exception>
    /// <exception cref="UnauthorizedAccessException">The system refuses.</exception>
    public static SocketFile Claim(string path, string? directory)
    {
        if (!OperatingSystem.IsWindows()) // which keeps times fine enough to tell files apart, and sets none on a socket
        {
            var made = File.GetLastWriteTimeUtc(path);
            var part = RandomNumberGenerator.GetInt32((int)TimeSpan.TicksPerSecond);
            File.SetLastWriteTimeUtc(path, made.AddTicks(part - (made.Ticks % TimeSpan.TicksPerSecond)));
        }

        return new SocketFile(path, directory, MarkOf(path));
    }

    /// <summary>What tells this file from another of its name; of a missing file a time that no file has.</summary>
    public static DateTime MarkOf(string path) => File.GetLastWriteTimeUtc(path);

    /// <summary>Removes the file, unless it is another by now, and its directory, unless something else is in it. Never throws.</summary>
    public void Remove()
    {
        try
        {
            if (MarkOf(_path) == _mark)
            {
                File.Delete(_path);
            }

            if (_directory is not null)
            {
                Directory.Delete(_directory);
            }
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // A file left behind is harmless: the next bind finds it dead and takes it over.
        }
    }
}
