using System.Security.Cryptography;

namespace Net.Zlink.Transports.Ipc;

/// <summary>Makes the directory of a wildcard bind, as the native core does: "tmp" and six characters, with a file "socket" to be bound in
/// it.</summary>
/// <remarks>Where no variable says where, it is the system's directory for temporary files. Natively it is "tmp" of the working directory,
/// which is made, stays, and gives an endpoint that a process with another working directory cannot use (docs/protocol.md section
/// 15.5).</remarks>
internal static class WildcardPath
{
    private const string FileName = "socket";
    private const string Prefix = "tmp";

    // Those of mkstemp: 62^6 names.
    private const string Characters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    private const int RandomLength = 6;

    // The first that is set and a directory counts.
    private static readonly string[] Variables = ["TMPDIR", "TEMPDIR", "TMP"];

    /// <summary>The directory that wildcard binds go to: a full path, since the endpoint is for other processes too.</summary>
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

    /// <summary>Makes a new directory that only this user may enter, and returns the path to bind in it.</summary>
    /// <exception cref="IOException">The system refuses.</exception>
    /// <exception cref="UnauthorizedAccessException">The system refuses.</exception>
    public static string Make(string root)
    {
        string directory;
        do
        {
            directory = Path.Combine(root, Prefix + RandomNumberGenerator.GetString(Characters, RandomLength));
        }
        while (Path.Exists(directory)); // Six random characters: once in 57,000,000,000.

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
