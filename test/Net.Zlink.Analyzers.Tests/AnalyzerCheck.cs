using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Testing;
using Microsoft.CodeAnalysis.Diagnostics;
using Microsoft.CodeAnalysis.Testing;
using Net.Zlink.Services;
using Xunit;

namespace Net.Zlink.Analyzers.Tests;

/// <summary>Runs an analyzer on statements of a method. {|ID:text|} is where it must report.</summary>
internal static class AnalyzerCheck
{
    // Those that the tests themselves run with: no package has to be fetched.
    private static readonly MetadataReference[] References =
    [
        .. ((string)AppContext.GetData("TRUSTED_PLATFORM_ASSEMBLIES")!).Split(Path.PathSeparator)
            .Where(static path => Path.GetFileName(path).StartsWith("System", StringComparison.Ordinal)
                || Path.GetFileName(path) is "mscorlib.dll" or "netstandard.dll" or "Microsoft.Extensions.Logging.Abstractions.dll")
            .Append(typeof(ZlinkContext).Assembly.Location).Append(typeof(ServiceGateway).Assembly.Location)
            .Select(static path => MetadataReference.CreateFromFile(path)),
    ];

    public static Task Body<TAnalyzer>(string statements)
        where TAnalyzer : DiagnosticAnalyzer, new() => Code<TAnalyzer>(Program(statements));

    public static Task Code<TAnalyzer>(string code)
        where TAnalyzer : DiagnosticAnalyzer, new() => FixedCode<TAnalyzer>(code, null);

    public static Task FixedBody<TAnalyzer>(string statements, string changed)
        where TAnalyzer : DiagnosticAnalyzer, new() => FixedCode<TAnalyzer>(Program(statements), Program(changed));

    private static Task FixedCode<TAnalyzer>(string code, string? changed)
        where TAnalyzer : DiagnosticAnalyzer, new()
    {
        var test = new CSharpCodeFixTest<TAnalyzer, AddUsingFix, DefaultVerifier>
        {
            TestCode = code,
            ReferenceAssemblies = new ReferenceAssemblies("net10.0"),
            MarkupOptions = MarkupOptions.UseFirstDescriptor,
        };
        test.TestState.AdditionalReferences.AddRange(References);
        if (changed is not null)
        {
            test.FixedCode = changed;
        }

        return test.RunAsync(TestContext.Current.CancellationToken);
    }

    private static string Program(string statements) => $$"""
        using System;
        using System.Collections.Generic;
        using System.Threading;
        using System.Threading.Tasks;
        using Net.Zlink;
        using Net.Zlink.Services;

        class Program
        {
            static Message s_kept;

            static async Task RunAsync(DealerSocket socket, RouterSocket router, StreamSocket stream, ServiceReceiver receiver,
                CancellationToken token)
            {
                await Task.Yield();
        {{statements}}
            }

            static void Keep(Message message) => s_kept = message;
        }
        """;
}
