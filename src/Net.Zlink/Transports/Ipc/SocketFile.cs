using System.Security.Cryptography;

namespace Net.Zlink.Transports.Ipc;

/// <summary>
/// The file of a bound socket. Its inode and type cannot be read without native code, so our file is recognised by its write time: we set
/// the fraction below a second at random. Another file has the same with odds of 1 to 10,000,000, and only within the same second. (The
/// kernel never changes that time. If a user does, the file is left behind.)
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
    /// Restricts a bound file to this user before the socket listens. (The native core leaves it to the umask, which usually allows
    /// others.)
    /// </summary>
    /// <exception cref="IOException">The file is gone, or the system refuses.</exception>
    /// <exception cref="UnauthorizedAccessException">The system refuses.</exception>
    public static void Protect(string path)
    {
        if (!OperatingSystem.IsWindows()) // Windows keeps access rights elsewhere.
        {
            File.SetUnixFileMode(path, UnixFileMode.UserRead | UnixFileMode.UserWrite);
        }
    }

    /// <summary>
    /// Marks the file of a listening socket as ours. Not earlier: before it listens its file looks dead, and another process may remove it.
    /// Then either that process finds the mark changed and restores it, or we find it gone.
    /// </summary>
    /// <param name="path">The absolute path, independent of later changes of the working directory.</param>
    /// <param name="directory">A directory made for this file, to be removed with it, or null.</param>
    /// <exception cref="IOException">The file is gone, or the system refuses.</exception>
    /// <exception cref="UnauthorizedAccessException">The system refuses.</exception>
    public static SocketFile Claim(string path, string? directory)
    {
        if (!OperatingSystem.IsWindows()) // Windows has precise times, and sets none on a socket.
        {
            var made = File.GetLastWriteTimeUtc(path);
            var part = RandomNumberGenerator.GetInt32((int)TimeSpan.TicksPerSecond);
            File.SetLastWriteTimeUtc(path, made.AddTicks(part - (made.Ticks % TimeSpan.TicksPerSecond)));
        }

        return new SocketFile(path, directory, MarkOf(path));
    }

    /// <summary>Distinguishes this file from another with its name. For a missing file a time that no file has.</summary>
    public static DateTime MarkOf(string path) => File.GetLastWriteTimeUtc(path);

    /// <summary>Removes the file unless it was replaced, and its directory if that is empty. Never throws.</summary>
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
            // A remaining file is harmless: the next bind finds it dead and replaces it.
        }
    }
}
