using System.Security.Cryptography;

namespace Net.Zlink.Transports.Ipc;

/// <summary>Makes the directory of a wildcard bind as the native core does: "tmp" and six characters, with a file "socket" in it.</summary>
/// <remarks>
/// Without a variable it is the system's directory for temporary files. The native core uses "tmp" in the working directory, which stays,
/// and whose endpoint other processes cannot use (docs/protocol.md section 15.5).
/// </remarks>
internal static class WildcardPath
{
    private const string FileName = "socket";
    private const string Prefix = "tmp";

    // Those of mkstemp: 62^6 names.
    private const string Characters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    private const int RandomLength = 6;

    // The first that is set and is a directory.
    private static readonly string[] Variables = ["TMPDIR", "TEMPDIR", "TMP"];

    /// <summary>The directory of wildcard binds: a full path, because the endpoint is for other processes too.</summary>
    public static string Root(Func<string, string?> environment)
    {
        foreach (var variable in Variables)
        {
            if (environment(variable) is { Length: > 0 } directory && Directory.Exists(directory))
            {
                return Path.GetFullPath(directory);
            }
        }

        return Path.GetTempPath();
    }

    /// <summary>Makes a new directory for this user only, and returns the path to bind in it.</summary>
    /// <exception cref="IOException">The system refuses.</exception>
    /// <exception cref="UnauthorizedAccessException">The system refuses.</exception>
    public static string Make(string root)
    {
        string directory;
        do
        {
            directory = Path.Combine(root, Prefix + RandomNumberGenerator.GetString(Characters, RandomLength));
        }
        while (Path.Exists(directory)); // A collision of six random characters: once in 57,000,000,000.

        if (OperatingSystem.IsWindows())
        {
            Directory.CreateDirectory(directory);
        }
        else
        {
            Directory.CreateDirectory(directory, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
        }

        return Path.Combine(directory, FileName);
    }
}
