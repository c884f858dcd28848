using System.Globalization;

namespace Net.Zlink;

/// <summary>Where the endpoints of one user are that were opened without a name.</summary>
internal static class DiagnosticsDirectory
{
    private const string Scheme = "ipc://";
    private const string Ending = ".sock";

    // An address has about a hundred bytes, and the directory needs some of them.
    private const int LongestName = 32;

    private const UnixFileMode OnlyThisUser = UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute;

    private static int s_last;

    private static string Location => Path.Combine(Path.GetTempPath(), $"zlink-{FileName(Environment.UserName)}");

    /// <summary>The process, a number in it, and the name of the context.</summary>
    public static string NewEndpoint(string? context)
    {
        string directory = Location;
        try
        {
            Create(directory);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new ZlinkException(ZlinkError.PermissionDenied,
                $"the directory {directory} of diagnostics cannot be used ({e.Message}); remove it, set TMPDIR to another one, or give "
                + "OpenDiagnostics an endpoint");
        }

        string number = string.Create(CultureInfo.InvariantCulture, $"{Environment.ProcessId}-{Interlocked.Increment(ref s_last)}");
        string file = string.IsNullOrEmpty(context) ? number : $"{number}-{FileName(context)}";
        return $"{Scheme}{Path.Combine(directory, $"{file}{Ending}")}";
    }

    public static IReadOnlyList<string> Find() => Directory.Exists(Location)
        ? [.. Directory.GetFiles(Location, $"*{Ending}").Order(StringComparer.Ordinal).Select(static path => $"{Scheme}{path}")]
        : [];

    /// <summary>The directory for temporary files is open to all users: another one may have made this directory, or a link.</summary>
    private static void Create(string directory)
    {
        DirectoryInfo made = Directory.CreateDirectory(directory);
        if (made.LinkTarget is not null)
        {
            throw new IOException("it is a link");
        }

        if (!OperatingSystem.IsWindows())
        {
            made.UnixFileMode = OnlyThisUser; // Fails in a directory of another user.
        }
    }

    private static string FileName(string name) =>
        string.Concat(name.Take(LongestName).Select(static c => char.IsAsciiLetterOrDigit(c) || c is '.' or '_' ? c : '-'));
}
