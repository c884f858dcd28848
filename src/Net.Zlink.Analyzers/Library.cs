using Microsoft.CodeAnalysis;

namespace Net.Zlink.Analyzers;

/// <summary>Tells the library's own types by name: a program may reference any of its packages.</summary>
internal static class Library
{
    public static bool Declares(ISymbol? symbol)
    {
        INamespaceSymbol? space = symbol?.ContainingNamespace;
        while (space is { IsGlobalNamespace: false })
        {
            if (space.Name is "Zlink" && space.ContainingNamespace is { Name: "Net", ContainingNamespace.IsGlobalNamespace: true })
            {
                return true;
            }

            space = space.ContainingNamespace;
        }

        return false;
    }

    /// <summary>A value that holds pooled memory until its Dispose: Message, StreamMessage, and what services receive.</summary>
    public static bool IsLease(ITypeSymbol? type) => type is { IsValueType: true, TypeKind: TypeKind.Struct } && Declares(type)
        && type.AllInterfaces.Any(static one => one.SpecialType == SpecialType.System_IDisposable);

    public static bool IsContext(ITypeSymbol? type) => type is { Name: "ZlinkContext" } && Declares(type);

    public static bool IsHandler(INamedTypeSymbol? type)
    {
        for (INamedTypeSymbol? one = type?.BaseType; one is not null; one = one.BaseType)
        {
            if (one.Name is "StreamHandler" && Declares(one))
            {
                return true;
            }
        }

        return false;
    }
}
