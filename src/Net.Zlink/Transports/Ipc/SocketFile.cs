using System.Globalization;
using System.Net.Sockets;
using System.Security.Cryptography;

namespace Net.Zlink.Transports.Ipc;

/// <summary>
/// A socket file's inode and type cannot be read without native code, so our file is recognised by its write time: we set the fraction
/// below a second at random. Another file has the same with odds of 1 to 10,000,000, and only within the same second.
/// </summary>
internal sealed class SocketFile(string path, string? directory, DateTime mark)
{
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
            if (MarkOf(path) == mark)
            {
                File.Delete(path);
            }

            if (directory is not null)
            {
                Directory.Delete(directory);
            }
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // A remaining file is harmless: the next bind finds it dead and replaces it.
        }
    }
}

internal static class StaleFile
{
    // Linux's ENXIO (macOS: EOPNOTSUPP) for opening a socket: the only way to a file's type without native code.
    private const int NoSuchDevice = 6;
    private const int AppleNotSupported = 102;

    private const int FieldsBeforePath = 7;
    private const int StateField = 5;
    private const string Unconnected = "01";

    /// <summary><paramref name="address"/>: the same path as the bind named it: the absolute one may be too long for an address.</summary>
    public static bool TryRemove(string path, IpcAddress address, out EndpointError error)
    {
        var name = EndpointError.Quote(path);
        error = EndpointError.None;
        try
        {
            var attributes = File.GetAttributes(path);
            var mark = SocketFile.MarkOf(path);
            if (attributes.HasFlag(FileAttributes.Directory) || IsLink(path, attributes))
            {
                error = IpcFaults.PathInUse($"{name} is a directory or a link, which this process does not replace; choose another path");
                return false;
            }

            switch (Probe(address))
            {
                case SocketError.AddressNotAvailable:
                    return true;
                case SocketError.ConnectionRefused:
                    break;
                case SocketError.AccessDenied:
                    error = IpcFaults.PathInUse($"{name} is another user's; choose another path");
                    return false;
                default:
                    error = IpcFaults.PathInUse($"another socket listens at {name}; stop the program that has it, or choose another path");
                    return false;
            }

            // Linux refuses a connect to a file of any type.
            if (!IsSocket(path, attributes))
            {
                error = IpcFaults.PathInUse($"{name} exists and is not a socket, so it is not replaced; remove it, or choose another path");
                return false;
            }

            if (IsBound(path))
            {
                error = IpcFaults.JustBound(path);
                return false;
            }

            return Remove(path, mark, out error);
        }
        catch (FileNotFoundException)
        {
            return true;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            error = IpcFaults.PathInUse(
                $"{name} was left behind by another program and could not be removed; remove it, or choose another path");
            return false;
        }
    }

    /// <summary>
    /// Moves the file and checks it again: of two processes that found it dead, the slower one would otherwise delete the faster one's new
    /// file.
    /// </summary>
    private static bool Remove(string path, DateTime mark, out EndpointError error)
    {
        var aside = string.Create(CultureInfo.InvariantCulture, $"{path}.{RandomNumberGenerator.GetHexString(8, lowercase: true)}");
        File.Move(path, aside);
        if (SocketFile.MarkOf(aside) == mark)
        {
            File.Delete(aside);
            error = EndpointError.None;
            return true;
        }

        File.Move(aside, path);
        error = IpcFaults.JustBound(path);
        return false;
    }

    /// <summary>Only Linux shows a path that is bound and does not listen yet, and only absolute paths, as ours are.</summary>
    private static bool IsBound(string path) => OperatingSystem.IsLinux()
        && File.ReadLines("/proc/net/unix").Any(line => OwnsPath(line, path));

    /// <summary>
    /// An accepted connection has its listener's path too and may outlive it, but it is connected. (The flag for listening does not help: a
    /// new socket lacks it.)
    /// </summary>
    internal static bool OwnsPath(ReadOnlySpan<char> line, string path)
    {
        // The path is everything after one space, with its own spaces and an abstract name's "@".
        bool isUnconnected = false;
        for (int field = 0; field < FieldsBeforePath; field++)
        {
            line = line.TrimStart(' ');
            int end = line.IndexOf(' ');
            if (end < 0)
            {
                return false;
            }

            isUnconnected |= field == StateField && line[..end] is Unconnected;
            line = line[end..];
        }

        return isUnconnected && line[1..].SequenceEqual(path);
    }

    private static SocketError Probe(IpcAddress address)
    {
        try
        {
            using var socket = IpcAddress.Open();
            socket.Blocking = false; // A full queue must not block.
            socket.Connect(address.ToEndPoint());
            return SocketError.Success;
        }
        catch (SocketException e)
        {
            return e.SocketErrorCode;
        }
    }

    private static bool IsLink(string path, FileAttributes attributes) =>
        attributes.HasFlag(FileAttributes.ReparsePoint) && (!OperatingSystem.IsWindows() || new FileInfo(path).LinkTarget is not null);

    private static bool IsSocket(string path, FileAttributes attributes)
    {
        if (OperatingSystem.IsWindows())
        {
            return attributes.HasFlag(FileAttributes.ReparsePoint);
        }

        try
        {
            // For reading and writing: a pipe opened for one of them would wait for its other end. Full sharing takes no lock.
            using var handle = File.OpenHandle(path, FileMode.Open, FileAccess.ReadWrite, FileShare.ReadWrite | FileShare.Delete);
            return false;
        }
        catch (IOException e)
        {
            return e.HResult == (OperatingSystem.IsMacOS() ? AppleNotSupported : NoSuchDevice);
        }
    }
}
