using System.Security.Cryptography;

namespace Net.Zlink.Transports.Ipc;

/// <summary>
/// A socket file's inode and type cannot be read without native code, so our file is recognised by its write time: we set the fraction
/// below a second at random. Another file has the same with odds of 1 to 10,000,000, and only within the same second.
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
    public static void Protect(string path)
    {
        if (!OperatingSystem.IsWindows())
        {
            File.SetUnixFileMode(path, UnixFileMode.UserRead | UnixFileMode.UserWrite);
        }
    }

    /// <summary>
    /// Called once the socket listens: before, its file looks dead, and another process may remove it. Then that process finds the mark
    /// changed and restores the file, or this one finds it gone.
    /// </summary>
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

    public static DateTime MarkOf(string path) => File.GetLastWriteTimeUtc(path);

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
