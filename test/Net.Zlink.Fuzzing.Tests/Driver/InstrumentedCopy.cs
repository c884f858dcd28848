using System.Diagnostics;

namespace Net.Zlink.Fuzzing;

/// <summary>This program in a folder of its own, where the libraries count which edges they pass.</summary>
internal static class InstrumentedCopy
{
    private const string Folder = "instrumented";

    private static readonly string[] s_libraries = ["Net.Zlink.dll", "Net.Zlink.Services.dll"];

    public static bool IsThis { get; } = Path.GetFileName(Path.GetDirectoryName(AppContext.BaseDirectory.TrimEnd('/', '\\'))) is Folder;

    /// <returns>The exit code.</returns>
    public static int Run(string[] args)
    {
        string folder = Path.Combine(AppContext.BaseDirectory, Folder, $"{Environment.ProcessId}");
        Directory.CreateDirectory(folder);
        foreach (string file in Directory.EnumerateFiles(AppContext.BaseDirectory))
        {
            File.Copy(file, Path.Combine(folder, Path.GetFileName(file)));
        }

        foreach (string library in s_libraries)
        {
            SharpFuzz.Fuzzer.Instrument(Path.Combine(folder, library), static _ => true, SharpFuzz.Options.Value);
        }

        Console.CancelKeyPress += static (_, pressed) => pressed.Cancel = true; // The copy ends, and reports.
        string program = Path.Combine(folder, $"{typeof(InstrumentedCopy).Assembly.GetName().Name}.dll");
        using Process copy = Process.Start(new ProcessStartInfo("dotnet", [program, .. args]))!;
        copy.WaitForExit();
        Directory.Delete(folder, recursive: true);
        return copy.ExitCode;
    }
}
